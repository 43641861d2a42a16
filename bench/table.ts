/** What one benchmark measured, as `bench/run.ts` prints it and as docs show it. */
export interface Table {
  readonly title: string;
  readonly columns: readonly string[];
  /** One cell per column, formatted, units included where the column's name has none. */
  readonly rows: readonly (readonly string[])[];
}

/** A file `bench/*.bench.ts` exports these two. */
export interface BenchModule {
  /** For `npm run bench -- NAME`. */
  readonly name: string;
  run(): Promise<Table>;
}
