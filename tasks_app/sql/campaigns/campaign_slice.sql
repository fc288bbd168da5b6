-- campaign_slice: the next tasks of a campaign, or of a backfill the next firings: some of one chunk.
SELECT ids[%(first)s::int : %(last)s::int], jobs[%(first)s::int : %(last)s::int], fires[%(first)s::int : %(last)s::int]
FROM punctual_campaign_chunk
WHERE campaign_id = %(campaign)s AND number = %(number)s
