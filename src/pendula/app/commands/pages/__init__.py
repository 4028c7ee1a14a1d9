"""Commands that write pages or serve them: play, report, papers, studio."""
