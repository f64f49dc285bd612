"""Behaviours of model servers, each by a scripted server: is the answer right, or is it said in one
line what cannot work?
"""
