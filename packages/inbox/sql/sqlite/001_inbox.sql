-- The messages that are being handled, and those that were. SQLite.
--
-- One deadline serves both states: until when a claim counts, and until when a confirmation is kept.
create table /*schema.*/acemq_inbox (
  scope text not null, -- the queue, unless the application chose otherwise
  message_id text not null,
  owner text, -- who is at it; null once it is confirmed
  claimed_at integer not null, -- milliseconds since the epoch
  expires_at integer not null,
  primary key (scope, message_id)
);

create index acemq_inbox_expiry on acemq_inbox (expires_at);
