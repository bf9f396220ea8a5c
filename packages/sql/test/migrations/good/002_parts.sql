create table /*schema.*/acemq_thing_parts (
  id varchar(100) not null primary key
);
