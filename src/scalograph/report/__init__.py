"""Findings become something to read: tables on the terminal, one HTML file.

`scalograph.report.terminal.render` and `scalograph.report.html.write` are the two doors; each is imported
by name, so that printing a table never loads the templates of the page.
"""
