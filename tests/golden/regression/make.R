# Rscript tests/golden/regression/make.R: writes the data and what R says of it, beside this file.
# Made with R 4.2.2, earth 5.3.2, rpart 4.1.19, mlbench 2.1-3.1, MASS 7.3-58.2.
# NAME.csv: the variables, y, fold (1..5), then for all rows the predictions of lm and of rpart with
# minsplit and cp as named, xval = 0. earth.csv: per data set and degree GRSq, terms, and the RMSE
# over the folds (mean of the folds' RMSE).
suppressMessages({ library(rpart); library(earth); library(mlbench); library(MASS) })
dir <- sub("make.R$", "", sub("^--file=", "", grep("^--file=", commandArgs(FALSE), value = TRUE)))
sets <- list()
for (s in 1:3) {
	set.seed(100 + s)
	f1 <- mlbench.friedman1(150, sd = 1); f2 <- mlbench.friedman2(150, sd = 125)
	f3 <- mlbench.friedman3(150, sd = 0.1)
	sets[[paste0("friedman1-", s)]] <- data.frame(f1$x, y = f1$y)
	sets[[paste0("friedman2-", s)]] <- data.frame(f2$x, y = f2$y)
	sets[[paste0("friedman3-", s)]] <- data.frame(f3$x, y = f3$y)
}
sets$trees <- data.frame(Girth = trees$Girth, Height = trees$Height, y = trees$Volume)
car <- na.omit(car.test.frame[, c("Price", "Mileage", "Type", "Weight", "Disp.", "HP")])
names(car)[2] <- "y"; names(car)[5] <- "Disp"; sets$car <- car
sets$cpus <- data.frame(cpus[, 2:7], y = log(cpus$perf))
for (s in 1:6) { # factors of 2 to 7 levels that shift and tilt
	set.seed(200 + s)
	n <- 120; g <- factor(sample(letters[1:(s + 1)], n, TRUE)); h <- factor(sample(c("off", "on"), n, TRUE))
	a <- runif(n); b <- rexp(n)
	sets[[paste0("factors-", s)]] <- data.frame(a, g, b, h, y = 3 * a + as.integer(g) * b +
		ifelse(h == "on", 5 * a * b, 0) + rnorm(n, sd = 0.3))
}
for (s in 1:4) { # smooth, with noise variables
	set.seed(300 + s)
	n <- 100 + 20 * s; x <- matrix(rnorm(n * (2 + s)), n)
	sets[[paste0("smooth-", s)]] <- data.frame(x, y = x[, 1]^2 + exp(x[, 2] / 2) + rnorm(n, sd = 0.2 * s))
}
carts <- list(c(20, 0.01), c(7, 0.003), c(2, 0))
rows <- NULL
for (name in names(sets)) {
	d <- sets[[name]]; set.seed(1)
	d <- d[, c(setdiff(names(d), "y"), "y")]
	fold <- sample(rep(1:5, length.out = nrow(d)))
	out <- cbind(d, fold = fold, lm = predict(lm(y ~ ., d)))
	for (k in carts)
		out[[sprintf("cart_%g_%g", k[1], k[2])]] <- predict(rpart(y ~ ., d,
			control = rpart.control(minsplit = k[1], cp = k[2], xval = 0, maxcompete = 0,
			maxsurrogate = 0)))
	write.csv(format(out, digits = 17, trim = TRUE), paste0(dir, name, ".csv"), row.names = FALSE, quote = FALSE)
	for (degree in unique(c(1, 2, ncol(d) - 1))) {
		m <- earth(y ~ ., d, degree = degree)
		rmse <- mean(sapply(1:5, function(f) {
			e <- earth(y ~ ., d[fold != f, ], degree = degree)
			sqrt(mean((d$y[fold == f] - predict(e, d[fold == f, ]))^2))
		}))
		rows <- rbind(rows, data.frame(set = name, degree = degree, grsq = sprintf("%.10f", m$grsq),
			terms = length(m$selected.terms), cv_rmse = sprintf("%.10g", rmse)))
	}
}
write.csv(rows, paste0(dir, "earth.csv"), row.names = FALSE, quote = FALSE)
