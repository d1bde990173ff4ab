-- How a learning went, for people to look at: the training loss, and held-out questions with both answers. NULL until the
-- job has ended, and again once it is forgotten. It has no sentence of the passage.
ALTER TABLE jobs ADD COLUMN learning_trace json;
