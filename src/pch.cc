// The translation unit that the precompiled headers are made in.
