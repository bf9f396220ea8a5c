-- A table and what belongs to it.
create table /*schema.*/acemq_thing (
  id varchar(100) not null primary key,
  note varchar(100)
);

create index acemq_thing_note on /*schema.*/acemq_thing (note);
