import * as Flags from '@oclif/core/flags';
import { type Inspection, inspect, problemOf } from '../src/app/inspect.ts';
import { StoreCommand } from '../src/cli/base-command.ts';
import { exitCodeOf } from '../src/cli/error-report.ts';
import { requiredArg } from '../src/cli/flags/args.ts';
import { parseRows } from '../src/cli/flags/parse-values.ts';
import { renderInspection } from '../src/cli/render/inspection.ts';

export default class Inspect extends StoreCommand {
  static override summary = 'Show what one object is: its format is guessed from its bytes.';
  static override description =
    'Knows BLTE, archives and their indices, every manifest and config, every root with its tables of names, patches, tables of version services, key lists, encoding specs, and the files of installations. What is wrapped is unwrapped and shown as well; keys come from the store. An object that is called by a hash is checked against its name.';
  static override args = {
    object: requiredArg('A file, or an object, manifest or entry of the store by its key (32 hex digits).'),
  };
  static override flags = {
    rows: Flags.string({ summary: 'Rows of the table to show, counted from 0. Default 0-9.', helpValue: 'A-B' }),
    encoded: Flags.boolean({ summary: 'Show the wrapping (the chunks of a BLTE object), not what is inside.' }),
  };
  static override examples = [
    '<%= config.bin %> inspect 0017a402f556fbece46c38dc431a2c9b.index --rows 100-119',
    '<%= config.bin %> inspect encoding.blte --encoded',
    '<%= config.bin %> inspect 903cc3552ca1075d5bdc264eab8e2480 --store games --json',
  ];

  async run(): Promise<Inspection> {
    const { args, flags } = await this.parse(Inspect);
    const rows = flags.rows === undefined ? undefined : parseRows(flags.rows);
    const options = { rows, encoded: flags.encoded, signal: this.signal };
    const inspection = await this.withSession(flags, (session) => inspect(session, args.object, options));
    this.log(renderInspection(inspection, this.width));
    const problem = problemOf(inspection);
    if (problem !== undefined) process.exitCode = exitCodeOf(problem.code);
    return inspection;
  }
}
