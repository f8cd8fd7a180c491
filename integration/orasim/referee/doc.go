// Package referee lets clients that others wrote judge the Oracle stand-in: one list of checks (checks_test.go) runs in
// go-ora, in python-oracledb (rows and Arrow), in node-oracledb and in two of Oracle's JDBC drivers, and every answer is
// compared with what Oracle would have said. What a client cannot do by itself stands beside the check, with the reason.
//
// It has only tests. The programs in clients read the checks as JSON and print what they saw; they know no right
// answers.
package referee
