"""Tests of the engine, of every kata, of the command line."""
