-- The messages that are being handled, and those that were. MySQL and MariaDB.
--
-- One deadline serves both states: until when a claim counts, and until when a confirmation is kept. The key is binary,
-- since text is compared there without regard to case and to spaces at its end.
create table if not exists /*schema.*/acemq_inbox (
  scope varbinary(255) not null, -- the queue, unless the application chose otherwise
  message_id varbinary(255) not null,
  owner varchar(64) character set ascii collate ascii_bin, -- who is at it; null once it is confirmed
  claimed_at bigint not null, -- milliseconds since the epoch
  expires_at bigint not null,
  primary key (scope, message_id),
  index acemq_inbox_expiry (expires_at)
) engine = InnoDB;
