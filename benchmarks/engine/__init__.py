"""What the engine itself costs, measured with a scripted model server:
utilisation, throughput, scale, warm questions.
"""
