/* A publish is killed at fifty random moments. */

process.env.PAKRAT_MOMENTS ??= '50';
await import('../acceptance/publish-killed.test.ts');
