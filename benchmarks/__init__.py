"""Measures `sliders`, its peers and the published figures on the same documents,
questions, model and machine.
"""
