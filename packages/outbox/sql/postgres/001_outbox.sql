-- What is to be published. Times are milliseconds since the epoch, by the clock of this database.
create table /*schema.*/acemq_outbox (
  id varchar(255) not null,
  seq bigint generated always as identity,
  -- 0 owed, 1 published, 2 retired
  state smallint not null default 0,
  lane smallint not null,
  destination integer not null,
  attempts integer not null default 0,
  size integer not null,
  created_at bigint not null,
  published_at bigint,
  retired_at bigint,
  exchange varchar(255) not null,
  routing_key varchar(255) not null,
  content_type varchar(255) not null,
  last_error varchar(1000),
  headers text not null,
  body bytea not null,
  constraint acemq_outbox_id primary key (id)
) with (autovacuum_vacuum_scale_factor = 0.02, autovacuum_analyze_scale_factor = 0.05);

create index acemq_outbox_owed on /*schema.*/acemq_outbox (seq, destination) where state = 0;
create index acemq_outbox_published on /*schema.*/acemq_outbox (published_at) where state = 1;
create index acemq_outbox_retired on /*schema.*/acemq_outbox (retired_at) where state = 2;

-- Which relay has which lane. A destination is in one lane.
create table /*schema.*/acemq_outbox_lanes (
  lane smallint not null primary key,
  relay varchar(64) not null default '',
  held_until bigint not null default 0
);
insert into /*schema.*/acemq_outbox_lanes (lane) values
  (0), (1), (2), (3), (4), (5), (6), (7), (8), (9), (10), (11), (12), (13), (14), (15),
  (16), (17), (18), (19), (20), (21), (22), (23), (24), (25), (26), (27), (28), (29), (30), (31),
  (32), (33), (34), (35), (36), (37), (38), (39), (40), (41), (42), (43), (44), (45), (46), (47),
  (48), (49), (50), (51), (52), (53), (54), (55), (56), (57), (58), (59), (60), (61), (62), (63);

-- Which relays are alive, and which of them are to be woken.
create table /*schema.*/acemq_outbox_relays (
  relay varchar(64) not null primary key,
  alive_until bigint not null,
  asleep boolean not null default false
);

-- Destinations that are left alone for a while after a refusal.
create table /*schema.*/acemq_outbox_rests (
  exchange varchar(255) not null,
  routing_key varchar(255) not null,
  lane smallint not null,
  rest_until bigint not null,
  refusals integer not null,
  primary key (exchange, routing_key)
);
