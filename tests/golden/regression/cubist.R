# Rscript tests/golden/regression/cubist.R: writes cubist.csv beside this file: per data set made by
# make.R, committees and neighbours the RMSE over its folds (mean of the folds' RMSE).
# Made with R 4.2.2 and Cubist 0.6.0 (github.com/topepo/Cubist, GPL-3; not in Debian: build it with
# R CMD INSTALL of a checkout). Text columns are factors, as blkcast takes them.
suppressMessages(library(Cubist))
dir <- paste0(dirname(sub("^--file=", "", grep("^--file=", commandArgs(FALSE), value = TRUE))), "/")
rows <- NULL
for (file in setdiff(list.files(dir, "csv$"), c("earth.csv", "cubist.csv", "m5p.csv"))) {
	d <- read.csv(paste0(dir, file), stringsAsFactors = TRUE)
	x <- d[, seq_len(which(names(d) == "y") - 1), drop = FALSE]
	for (committees in c(1, 10, 50)) {
		rmse <- matrix(0, max(d$fold), 10)
		for (f in seq_len(max(d$fold))) {
			train <- d$fold != f
			m <- cubist(x[train, , drop = FALSE], d$y[train], committees = committees)
			for (k in 0:9)
				rmse[f, k + 1] <- sqrt(mean((d$y[!train] - predict(m, x[!train, , drop = FALSE],
					neighbors = k))^2))
		}
		rows <- rbind(rows, data.frame(set = sub(".csv$", "", file), committees = committees,
			neighbours = 0:9, cv_rmse = sprintf("%.8g", colMeans(rmse))))
	}
}
write.csv(rows, paste0(dir, "cubist.csv"), row.names = FALSE, quote = FALSE)
