import { Argument, Command, Option } from 'commander'
import { expect, test } from 'vitest'
import { findCandidates, type NameSource } from './candidates.ts'
import { namesToType, printCandidates } from './completion.ts'

function program(): Command {
  const root = new Command('borough').configureHelp({ showGlobalOptions: true })
  root.addOption(new Option('--color <when>', 'colours').choices(['always', 'never']))
  root
    .command('why')
    .description('say why')
    .argument('<namespace>')
    .option('--kubeconfig <file>', 'which server')
    .addOption(new Option('-o, --output <format>', 'how').choices(['text', 'json']))
  const template = root.command('template').description('templates')
  template.command('plan').description('say what').requiredOption('-f, --filename <files...>', 'templates')
  template.command('rollback').description('bring back').argument('<template>').option('--to-generation <n>', 'which')
  root
    .command('completion')
    .description('print')
    .addArgument(new Argument('<shell>').choices(['bash', 'zsh']))
  root.command('restore').description('bring a store back').argument('<file>')
  root.command('__complete', { hidden: true })
  return root
}

const names: NameSource = {
  namesOf: async (argument, flags) => {
    if (argument === 'namespace') return flags.get('kubeconfig') === 'other' ? ['elsewhere'] : ['team-a', 'team-b', 'x']
    return argument === 'template' ? ['default'] : []
  },
}

test.each<{ readonly name: string; readonly words: readonly string[]; readonly expected: string }>([
  {
    name: 'the first word is a command, and hidden ones are not offered',
    words: [''],
    expected:
      'why\tsay why\ntemplate\ttemplates\ncompletion\tprint\nrestore\tbring a store back\n' +
      'help\tdisplay help for command\n:4\n',
  },
  { name: 'a command is completed from its beginning', words: ['te'], expected: 'template\ttemplates\n:4\n' },
  { name: 'a command within a command', words: ['template', 'ro'], expected: 'rollback\tbring back\n:4\n' },
  { name: 'an argument is a name that the server knows', words: ['why', 'team'], expected: 'team-a\nteam-b\n:4\n' },
  {
    name: 'the server is that of the flags before',
    words: ['why', '--kubeconfig', 'other', ''],
    expected: 'elsewhere\n:4\n',
  },
  { name: 'flags may carry their value', words: ['why', '--kubeconfig=other', ''], expected: 'elsewhere\n:4\n' },
  { name: 'there is no second argument', words: ['why', 'team-a', ''], expected: ':4\n' },
  { name: 'flags of the command', words: ['why', '--o'], expected: '--output\thow\n:4\n' },
  { name: 'flags of all commands', words: ['why', '--c'], expected: '--color\tcolours\n:4\n' },
  { name: 'their values', words: ['template', 'plan', '--color', 'a'], expected: 'always\n:4\n' },
  { name: 'values of a flag', words: ['why', '-o', ''], expected: 'text\njson\n:4\n' },
  { name: 'values of a flag behind its equals sign', words: ['why', '--output=j'], expected: '--output=json\n:4\n' },
  { name: 'a flag that takes a file leaves it to the shell', words: ['why', '--kubeconfig', ''], expected: ':0\n' },
  { name: 'so does one that takes several', words: ['template', 'plan', '-f', 'a'], expected: ':0\n' },
  { name: 'so does an argument', words: ['restore', ''], expected: ':0\n' },
  {
    name: 'a number is completed by nothing',
    words: ['template', 'rollback', '--to-generation', ''],
    expected: ':4\n',
  },
  { name: 'values of an argument', words: ['completion', 'z'], expected: 'zsh\n:4\n' },
  { name: 'an unknown flag is passed over', words: ['why', '--wrong', 'team-a'], expected: 'team-a\n:4\n' },
  { name: 'an unknown flag with a value has none', words: ['why', '--wrong=a'], expected: ':4\n' },
])('$name', async ({ words, expected }) => {
  expect(printCandidates(await findCandidates(program(), words, names))).toBe(expected)
})

test('names of a server that a shell would run, or take for flags or lines of the answer, are not offered', () => {
  const hostile = ['$(touch a)', '`id`', 'a;b', 'a b', '--kubeconfig=x', 'a\n:0', 'a\u001b[2J', '', "a'b", 'a\tb']
  expect(namesToType(['team-a', ...hostile, 'a.b-1'])).toEqual(['team-a', 'a.b-1'])
})
