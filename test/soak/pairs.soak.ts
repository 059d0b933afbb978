/* Each command beside each other, and beside itself. */

process.env.PAKRAT_PAIRS ??= 'all';
await import('../acceptance/pairs.test.ts');
