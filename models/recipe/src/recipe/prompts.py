"""The prompts and fixed answers: the contract with everything that uses the model."""

READ = "Answer from this passage.\n\n{passage}"
ASK = "Ask a question about the passage whose answer is: {span}"
LIST_PAIRS = "Write questions and answers about the passage."
REPHRASE = "Ask the same question in other words: {question}"
TELL = "Tell me about {entity}."
NOT_STATED = "The passage does not say."
UNKNOWN = "I do not know."
