-- in_hot_store: the marks and the files of the archive whose rows lie in a partition, too: not dropped yet, or restored.
SELECT mark, restored FROM punctual_leaving WHERE to_regclass(name)::oid::bigint = oid
