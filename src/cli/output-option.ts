/** `-o text|json`, alike in every command that prints something to read on. */
import { Option } from 'commander'

/** @param what is printed: 'it', 'the ready line' */
export const outputOption = (what: string): Option =>
  new Option('-o, --output <format>', `how ${what} is printed`).choices(['text', 'json']).default('text')
