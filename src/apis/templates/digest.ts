/** Texts that stand for what an object says. */
import { hash } from 'node:crypto'

export const digestOf = (value: unknown): string => digestOfText(JSON.stringify(value))

/** 96 bits: enough that two texts of one object never meet by chance. */
export const digestOfText = (text: string): string => hash('sha1', text, 'base64').slice(0, 16)
