/* A repair is killed at thirty random moments. */

process.env.PAKRAT_MOMENTS ??= '30';
await import('../acceptance/repair-killed.test.ts');
