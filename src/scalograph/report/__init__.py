"""Show findings: the answer and tables on a terminal, one HTML file, still pictures.

In: `Findings` and what the questions draw of them. Out: text on a console, HTML pages and SVG.
`terminal_first.render_first`, `terminal_table.render` and `html.write` are imported by name, so that printing a table
never loads the templates of the page. Start with `screen.Screen`, `cells.TableLayout` and `static_picture.Canvas`.
"""
