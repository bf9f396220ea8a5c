-- The messages that are being handled, and those that were. PostgreSQL.
--
-- One deadline serves both states: until when a claim counts, and until when a confirmation is kept.
create table /*schema.*/acemq_inbox (
  scope varchar(255) collate "C" not null, -- the queue, unless the application chose otherwise
  message_id varchar(255) collate "C" not null,
  owner varchar(64), -- who is at it; null once it is confirmed
  claimed_at bigint not null, -- milliseconds since the epoch
  expires_at bigint not null,
  primary key (scope, message_id)
);

create index acemq_inbox_expiry on /*schema.*/acemq_inbox (expires_at);
