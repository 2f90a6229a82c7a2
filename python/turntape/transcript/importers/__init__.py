"""Reading what other tools wrote, each format behind the date of the version that it was written for."""
