// SPDX-License-Identifier: Apache-2.0
// java -cp /usr/share/java/weka.jar tests/golden/regression/M5pPeer.java tests/golden/regression: writes
// m5p.csv there: per data set made by make.R the RMSE of Weka's M5P (standard options) over its
// folds, the mean of the folds' RMSE. Made with weka 3.6.14 of Debian 12. Text columns are nominal.
import java.io.*;
import java.nio.file.*;
import java.util.*;
import weka.classifiers.trees.M5P;
import weka.core.*;

public class M5pPeer {
	static boolean number(String s) {
		try {
			Double.parseDouble(s);
			return true;
		} catch (NumberFormatException e) {
			return false;
		}
	}

	static double rmse(List<String[]> rows, int nr, int fold) throws Exception {
		FastVector attributes = new FastVector();
		int folds = 0;
		double sum = 0;

		for (int c = 0; c < nr; c++) {
			TreeSet<String> levels = new TreeSet<>();
			boolean text = false;
			for (String[] r : rows.subList(1, rows.size())) {
				levels.add(r[c]);
				text |= !number(r[c]);
			}
			FastVector values = new FastVector();
			for (String l : levels)
				values.addElement(l);
			attributes.addElement(text ? new Attribute(rows.get(0)[c], values)
						   : new Attribute(rows.get(0)[c]));
		}
		for (String[] r : rows.subList(1, rows.size()))
			folds = Math.max(folds, Integer.parseInt(r[fold]));
		for (int f = 1; f <= folds; f++) {
			Instances train = new Instances("d", attributes, rows.size());
			Instances test = new Instances("d", attributes, rows.size());
			double squares = 0;
			train.setClassIndex(nr - 1);
			test.setClassIndex(nr - 1);
			for (String[] r : rows.subList(1, rows.size())) {
				Instances to = Integer.parseInt(r[fold]) == f ? test : train;
				Instance i = new Instance(nr);
				i.setDataset(to);
				for (int c = 0; c < nr; c++) {
					if (train.attribute(c).isNumeric())
						i.setValue(c, Double.parseDouble(r[c]));
					else
						i.setValue(c, r[c]);
				}
				to.add(i);
			}
			M5P m = new M5P();
			m.buildClassifier(train);
			for (int i = 0; i < test.numInstances(); i++) {
				double e = m.classifyInstance(test.instance(i)) - test.instance(i).classValue();
				squares += e * e;
			}
			sum += Math.sqrt(squares / test.numInstances());
		}
		return sum / folds;
	}

	public static void main(String[] args) throws Exception {
		File[] files = new File(args[0]).listFiles((d, n) -> n.endsWith(".csv"));
		PrintWriter out = new PrintWriter(new File(args[0], "m5p.csv"));
		Arrays.sort(files);
		out.println("set,cv_rmse");
		for (File file : files) {
			List<String[]> rows = new ArrayList<>();
			for (String line : Files.readAllLines(file.toPath()))
				rows.add(line.split(","));
			List<String> head = Arrays.asList(rows.get(0));
			if (!head.contains("y") || !head.contains("fold"))
				continue;
			out.printf(Locale.ROOT, "%s,%.8g%n", file.getName().replace(".csv", ""),
				   rmse(rows, head.indexOf("y") + 1, head.indexOf("fold")));
		}
		out.close();
	}
}
