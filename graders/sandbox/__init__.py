"""The judge's end of the wire: processes shut in, messages to them and from them, a submission that answers."""
