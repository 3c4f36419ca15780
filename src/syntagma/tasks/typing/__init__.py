"""Entity typing: the types of a mention."""
