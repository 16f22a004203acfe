/** A type of data that nobody changes, such as what a schema infers. */
export type Immutable<T> = T extends object ? { readonly [Key in keyof T]: Immutable<T[Key]> } : T;
