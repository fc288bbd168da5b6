"""Tables that grow for ever, cut into partitions by time: which there are, how one is made, and how one goes."""
