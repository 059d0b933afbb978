/* Every long command is stopped at thirty moments. */

process.env.PAKRAT_MOMENTS ??= '30';
await import('../acceptance/stop.test.ts');
