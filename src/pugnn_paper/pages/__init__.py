"""The pages of the repeated tables, as Markdown and as HTML."""
