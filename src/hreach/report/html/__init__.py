"""The page as HTML: the document, its tables and its list of claims."""
