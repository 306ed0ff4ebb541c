"""Commands over folders of many results: find them, summarize each, and keep an index of the summaries."""
