-- campaign_slice: the next tasks of a campaign: some of one chunk.
SELECT ids[%(first)s::int : %(last)s::int] FROM punctual_campaign_chunk
WHERE campaign_id = %(campaign)s AND number = %(number)s
