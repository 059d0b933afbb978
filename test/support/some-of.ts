/*
 * Of tables with many rows that are alike a run of the tests goes through some, so that it ends in minutes; `PAKRAT_ROWS=all npm test` goes through all.
 */

/** The rows that a run of the tests goes through. @param isChosen for those that stand for the others */
export function someOf<Row>(rows: readonly Row[], isChosen: (row: Row, number: number) => boolean): Row[] {
  return rows.filter((row, number) => process.env.PAKRAT_ROWS === 'all' || isChosen(row, number));
}
