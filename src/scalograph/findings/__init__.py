"""Stop 4, analyze: a `Table` of runs to what every study is asked, with the evidence beside every estimate."""
