-- When a rolling task is due again: an interval after its run ended, which is `roll.moment`; or at the first of `moments`
-- from then on: those of its type's timer, computed for this batch, in order.
                   coalesce((%(moments)s::timestamptz[])[
                       1 + width_bucket(roll.moment - interval '1 microsecond', %(moments)s::timestamptz[])], roll.moment)
