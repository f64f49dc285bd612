"""Every request that scripted readers are sent, as hashes: stored, and compared with those of a
later version.
"""
