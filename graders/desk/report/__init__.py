"""The report: `tally` counts, `charts` draws, `page` puts both into report.html.jinja."""
