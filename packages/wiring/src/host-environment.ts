export function hostEnvironment(): Readonly<Record<string, string | undefined>> {
  // biome-ignore lint/style/noProcessEnv: the composition root is where the host's environment comes in
  return process.env;
}
