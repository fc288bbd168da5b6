-- callback_urls: where these tasks call.
SELECT payload ->> 'url' FROM punctual_task WHERE id = ANY (%(ids)s::bigint[])
