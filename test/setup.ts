import fc from "fast-check";

// The same cases on every run; FAST_CHECK_SEED=$RANDOM looks for new ones.
fc.configureGlobal({ seed: Number(process.env.FAST_CHECK_SEED ?? 20_130_201) });
