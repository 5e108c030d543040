"""Second-order methods, to a proven duality gap."""
