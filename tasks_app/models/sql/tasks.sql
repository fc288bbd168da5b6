-- tasks: no statement writes asked_by. Its default is the actor that a request has set for its transaction.
ALTER TABLE punctual_task ALTER asked_by SET DEFAULT nullif(current_setting('punctual.actor', TRUE), '');
