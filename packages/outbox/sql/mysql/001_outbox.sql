-- What is to be published. Times are milliseconds since the epoch, by the clock of this database. Names are bytes, since
-- RabbitMQ tells them apart by case and by spaces at the end.
create table if not exists /*schema.*/acemq_outbox (
  seq bigint not null auto_increment,
  id varbinary(255) not null,
  -- 0 owed, 1 published, 2 retired
  state smallint not null default 0,
  lane smallint not null,
  destination integer not null,
  attempts integer not null default 0,
  size integer not null,
  created_at bigint not null,
  published_at bigint,
  retired_at bigint,
  exchange varbinary(255) not null,
  routing_key varbinary(255) not null,
  content_type varbinary(255) not null,
  last_error varchar(1000) character set utf8mb4,
  headers longtext character set utf8mb4 not null,
  body longblob not null,
  primary key (seq),
  unique key acemq_outbox_id (id),
  key acemq_outbox_owed (state, seq, destination),
  key acemq_outbox_published (state, published_at),
  key acemq_outbox_retired (state, retired_at)
) engine = InnoDB;

-- Which relay has which lane. A destination is in one lane.
create table if not exists /*schema.*/acemq_outbox_lanes (
  lane smallint not null,
  relay varchar(64) not null default '',
  held_until bigint not null default 0,
  primary key (lane)
) engine = InnoDB;
insert ignore into /*schema.*/acemq_outbox_lanes (lane) values
  (0), (1), (2), (3), (4), (5), (6), (7), (8), (9), (10), (11), (12), (13), (14), (15),
  (16), (17), (18), (19), (20), (21), (22), (23), (24), (25), (26), (27), (28), (29), (30), (31),
  (32), (33), (34), (35), (36), (37), (38), (39), (40), (41), (42), (43), (44), (45), (46), (47),
  (48), (49), (50), (51), (52), (53), (54), (55), (56), (57), (58), (59), (60), (61), (62), (63);

-- Which relays are alive.
create table if not exists /*schema.*/acemq_outbox_relays (
  relay varchar(64) not null,
  alive_until bigint not null,
  primary key (relay)
) engine = InnoDB;

-- Destinations that are left alone for a while after a refusal.
create table if not exists /*schema.*/acemq_outbox_rests (
  exchange varbinary(255) not null,
  routing_key varbinary(255) not null,
  lane smallint not null,
  rest_until bigint not null,
  refusals integer not null,
  primary key (exchange, routing_key)
) engine = InnoDB;
