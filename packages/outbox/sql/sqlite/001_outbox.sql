-- What is to be published. Times are milliseconds since the epoch.
create table /*schema.*/acemq_outbox (
  seq integer primary key autoincrement,
  id text not null unique,
  -- 0 owed, 1 published, 2 retired
  state integer not null default 0,
  lane integer not null,
  destination integer not null,
  attempts integer not null default 0,
  size integer not null,
  created_at integer not null,
  published_at integer,
  retired_at integer,
  exchange text not null,
  routing_key text not null,
  content_type text not null,
  last_error text,
  headers text not null,
  body blob not null
);

create index /*schema.*/acemq_outbox_owed on acemq_outbox (seq, destination) where state = 0;
create index /*schema.*/acemq_outbox_published on acemq_outbox (published_at) where state = 1;
create index /*schema.*/acemq_outbox_retired on acemq_outbox (retired_at) where state = 2;

-- Which relay has which lane. A destination is in one lane.
create table /*schema.*/acemq_outbox_lanes (
  lane integer not null primary key,
  relay text not null default '',
  held_until integer not null default 0
);
insert into /*schema.*/acemq_outbox_lanes (lane) values
  (0), (1), (2), (3), (4), (5), (6), (7), (8), (9), (10), (11), (12), (13), (14), (15),
  (16), (17), (18), (19), (20), (21), (22), (23), (24), (25), (26), (27), (28), (29), (30), (31),
  (32), (33), (34), (35), (36), (37), (38), (39), (40), (41), (42), (43), (44), (45), (46), (47),
  (48), (49), (50), (51), (52), (53), (54), (55), (56), (57), (58), (59), (60), (61), (62), (63);

-- Which relays are alive.
create table /*schema.*/acemq_outbox_relays (
  relay text not null primary key,
  alive_until integer not null
) without rowid;

-- Destinations that are left alone for a while after a refusal.
create table /*schema.*/acemq_outbox_rests (
  exchange text not null,
  routing_key text not null,
  lane integer not null,
  rest_until integer not null,
  refusals integer not null,
  primary key (exchange, routing_key)
) without rowid;
