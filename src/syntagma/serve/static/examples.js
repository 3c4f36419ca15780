// A text whose questions have all three outcomes, and one to parse.

export const TEXT = `The Saltmarsh ferry first crossed the estuary in the spring of 1871, when Ada Mensah, a boat builder from the town of Pellworth, bought an old coal barge and fitted it with a second-hand engine. The journey took forty minutes in fair weather.

In 1889 a storm tore the barge from its ropes and drove it onto the rocks below Gannet Point. Nobody was hurt, but the engine was lost. The town council, which had refused to help her at the beginning, lent Mensah four hundred pounds for a new vessel, the Perseverance. It was built of oak instead of pine and could carry twelve carts.`;

export const QUESTIONS = ["What was the Perseverance built of?", "Was the Perseverance built of pine?", "When was the railway station built?"];

export const SENTENCES = "The old lighthouse that Ana Reyes repaired in 1931 guides small boats. Sailors trust its beam.";
