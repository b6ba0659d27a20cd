"""Ensembles bred by a genetic search (Opitz)."""
