/* gc beside others, for a hundred rounds. */

process.env.PAKRAT_ROUNDS ??= '100';
process.env.PAKRAT_SEED ??= '7';
await import('../acceptance/gc-beside-others.test.ts');
