//! One small module for each system interface that needs `unsafe`.
